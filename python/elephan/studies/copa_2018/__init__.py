"""Copa (Arun and Balakrishnan, NSDI 2018), and how delay starves it (Arun, Alizadeh, Balakrishnan, SIGCOMM 2022). See README.md."""
