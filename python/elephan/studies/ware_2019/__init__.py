"""Modeling BBR's interactions with loss-based congestion control (IMC, 2019): the model beside simulations. See README.md."""
