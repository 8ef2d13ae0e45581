"""The games in other libraries: one page for each, which imports its library and is imported only when it is used."""
