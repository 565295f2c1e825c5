"""The management plane: the boards of the host as their drivers and the PCI bus show them."""
