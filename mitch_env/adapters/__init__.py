"""One page for each foreign library, imported only when used."""
