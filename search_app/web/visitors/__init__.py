"""Visitors: sign-in, access, limits on requests, and consent."""
