graph [
  node [ id 1 label "Geneva" lon 6.14 lat 46.20 ]
  node [ id 2 label "Hamburg" lon 9.99 lat 53.55 ]
  node [ id 3 label "Vienna" lon 16.37 lat 48.21 ]
  edge [ source 1 target 2 bandwidth "10 Gbit/s" ]
  edge [ source 2 target 3 dist 960 bandwidth "10 Gbit/s" ]
  edge [ source 3 target 1 dist 1030 ]
]
