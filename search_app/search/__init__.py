"""From a query to a ranking, the reasons for that ranking, and what a page shows of it."""
