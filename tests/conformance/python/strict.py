"""Checks every response against botocore's own model of the service.

The parsers of SDKs forgive nearly everything. This does not: elements that the model does not know, members that it requires
and that are missing, texts that are no number, boolean or time, values outside of an enumeration or of their length.
"""

import json
import re
import xml.etree.ElementTree as ElementTree
from datetime import datetime

INTEGERS = {"integer", "long"}
FLOATS = {"float", "double"}
# Elements beside the model's: `return` is a success flag of some EC2 responses that the model leaves out.
EC2_EXTRA = {"requestId", "return"}
# Values that EC2 sends although its model does not list them (EC2 API Reference, the data types' own descriptions and examples).
EC2_VALUES = {
    "AttachmentStatus": {"available"},
    "NetworkInterfaceType": {"nat_gateway"},
    "State": {"available", "deleting", "pending"},
}
# Where the model is stricter than the service: what a response shows there is what the caller put in.
LENGTHS_UNCHECKED = {"ec2"}


class Strict:
    """Collects what is wrong with responses, and which actions got one."""

    def __init__(self):
        self.wrong = set()
        self.responses = 0
        self.actions = set()

    def watch(self, client):
        client.meta.events.register("after-call", self.check)
        return client

    def check(self, http_response, model, **_):
        # The two APIs of Elastic Load Balancing are one service.
        self.actions.add((model.service_model.signing_name, model.name))
        if http_response.status_code != 200:
            return
        self.responses += 1
        self.lengths = model.service_model.service_name not in LENGTHS_UNCHECKED
        protocol = model.service_model.metadata["protocol"]
        shape = model.output_shape
        if protocol in ("json", "rest-json"):
            self.json(model.name, json.loads(http_response.content or b"{}"), shape)
            return
        if protocol == "rest-xml" and (shape is None or "payload" in shape.serialization or not http_response.content):
            # Objects are no XML, and most other responses of S3 are empty.
            return
        root = ElementTree.fromstring(http_response.content)
        if protocol == "rest-xml":
            self.flat(model.name, root, shape)
            return
        if protocol == "query":
            self.none(model.name, {name(child) for child in root} - {model.name + "Result", "ResponseMetadata"})
            if shape is not None:
                result = next(child for child in root if name(child).endswith("Result"))
                self.xml(model.name, result, shape)
        else:
            self.xml(model.name, root, shape, EC2_EXTRA)

    # XML

    def flat(self, where, root, shape):
        """S3's lists have no element around their items."""
        for child in root:
            member = shape.members.get(name(child))
            if member is None:
                self.note(f"{where}/{name(child)} unknown")
            else:
                self.xml(f"{where}/{name(child)}", child, member.member if member.type_name == "list" else member)

    def xml(self, where, element, shape, also=frozenset()):
        if shape is None:
            self.none(where, {name(child) for child in element} - also)
        elif shape.type_name == "structure":
            members = {member.serialization.get("name", key): (key, member) for key, member in shape.members.items()}
            there = set()
            for child in element:
                if name(child) in members:
                    key, member = members[name(child)]
                    if key in there:
                        self.note(f"{where}/{name(child)} twice")
                    there.add(key)
                    self.xml(f"{where}/{name(child)}", child, member)
                elif name(child) not in also:
                    self.note(f"{where}/{name(child)} unknown")
            self.required(where, shape, there)
        elif shape.type_name == "list":
            item = shape.member.serialization.get("name", "member")
            for child in element:
                self.none(where, {name(child)} - {item})
                self.xml(where, child, shape.member)
        elif shape.type_name == "map":
            raise NotImplementedError(where)
        else:
            self.none(where, {name(child) for child in element})
            self.text(where, element.text or "", shape)

    def text(self, where, text, shape):
        kind = shape.type_name
        if kind in INTEGERS:
            if not re.fullmatch(r"-?\d+", text):
                self.note(f"{where} no integer: {text}")
            else:
                self.range(where, int(text), shape)
        elif kind in FLOATS:
            try:
                float(text)
            except ValueError:
                self.note(f"{where} no number: {text}")
        elif kind == "boolean":
            if text not in ("true", "false"):
                self.note(f"{where} no boolean: {text}")
        elif kind == "timestamp":
            try:
                datetime.fromisoformat(text.replace("Z", "+00:00"))
            except ValueError:
                self.note(f"{where} no time: {text}")
        elif kind == "string":
            self.string(where, text, shape)

    # JSON

    def json(self, where, value, shape):
        if shape is None:
            self.none(where, set(value))
        elif shape.type_name == "structure":
            if not isinstance(value, dict):
                return self.note(f"{where} no structure")
            for key, inner in value.items():
                if key not in shape.members:
                    self.note(f"{where}/{key} unknown")
                else:
                    self.json(f"{where}/{key}", inner, shape.members[key])
            self.required(where, shape, set(value))
        elif shape.type_name == "list":
            for inner in value:
                self.json(where, inner, shape.member)
        elif shape.type_name == "map":
            for key, inner in value.items():
                self.json(f"{where}/key", key, shape.key)
                self.json(where, inner, shape.value)
        else:
            expected = {"string": str, "boolean": bool, "timestamp": (int, float), "double": (int, float)}
            if not isinstance(value, expected.get(shape.type_name, int)):
                self.note(f"{where} no {shape.type_name}: {value}")
            elif shape.type_name == "string":
                self.string(where, value, shape)

    # Both

    def string(self, where, text, shape):
        if shape.enum and text not in {*shape.enum, *EC2_VALUES.get(shape.name, ())}:
            self.note(f"{where} not in its enumeration: {text}")
        if self.lengths:
            self.range(where, len(text), shape)

    def range(self, where, number, shape):
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        if (low is not None and number < low) or (high is not None and number > high):
            self.note(f"{where} out of range: {number}")

    def required(self, where, shape, there):
        for key in set(shape.required_members) - there:
            self.note(f"{where}/{key} missing")

    def none(self, where, names):
        for each in names:
            self.note(f"{where}/{each} unknown")

    def note(self, text):
        self.wrong.add(text)


def name(element):
    return element.tag.split("}")[-1]
