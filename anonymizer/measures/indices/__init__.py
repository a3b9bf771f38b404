"""How much of people a release still tells: SPI, JSD and PEL, of logs and of rows."""
