"""Figures side by side: recompat, what people would otherwise do, and the limit."""
