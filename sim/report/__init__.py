"""Results for people: charts, tables and the folder in which they are kept."""
