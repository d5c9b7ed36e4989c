"""ChartDB's JSON format: schema documents as a diagram, and its way of writing types. Pure."""

from registry.chartdb.diagram import Stamped, diagram
from registry.chartdb.types import FieldType, database_type, read_type, type_of, write_type

__all__ = ["FieldType", "Stamped", "database_type", "diagram", "read_type", "type_of", "write_type"]
