"""Other libraries' views of the games; each module is imported by itself and needs its library."""
