"""XML as ElementTree writes it, for the reports that are XML: JUnit, Atom and SVG."""

from __future__ import annotations

from xml.etree import ElementTree as ET

__all__ = ["child", "document"]


def child(parent: ET.Element, tag: str, text: str = "", **attributes: str | float) -> ET.Element:
    """Add an element; a name such as ``class_`` or ``stroke_width`` becomes ``class`` or ``stroke-width``."""
    named = {name.rstrip("_").replace("_", "-"): f"{value}" for name, value in attributes.items()}
    element = ET.SubElement(parent, tag, named)
    element.text = text or None
    return element


def document(root: ET.Element) -> str:
    """Write a document, in UTF-8 once it is encoded; texts from records have to be cleaned before."""
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written.decode() + "\n"
