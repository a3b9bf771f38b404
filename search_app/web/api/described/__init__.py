"""What the JSON API is: operations, records, their schema, the OpenAPI document and its page."""
