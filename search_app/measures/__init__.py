"""How good an order is, and how sure that is: pure functions."""
