"""What every API of the project is built from: lists, filters, bodies, rights and careful writes."""
