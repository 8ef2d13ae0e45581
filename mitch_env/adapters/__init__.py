"""One page for each foreign library, imported only when it is used."""
