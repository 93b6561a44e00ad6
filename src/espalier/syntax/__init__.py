"""Grammar: constituency and dependency trees, the forms that systems read, and the parsers that find them."""
