"""Resolves CloudFormation's intrinsic functions for what is known before anything is deployed.

Named resources (functions, queues, tables, buckets) have an ARN that follows from their name.
"""

import re
from collections.abc import Callable, Mapping
from typing import cast

from archivolt_local.emulator import REGION
from archivolt_local.json_values import JsonObject, JsonValue
from archivolt_local.provisioning.template import Template

ACCOUNT = "000000000000"
_PLACEHOLDER = re.compile(r"\$\{([^!}][^}]*)\}")
_NO_VALUE = object()

_NAMED: Mapping[str, tuple[str, str]] = {
    "AWS::Lambda::Function": ("FunctionName", "arn:aws:lambda:{region}:{account}:function:{name}"),
    "AWS::SQS::Queue": ("QueueName", "arn:aws:sqs:{region}:{account}:{name}"),
    "AWS::DynamoDB::Table": ("TableName", "arn:aws:dynamodb:{region}:{account}:table/{name}"),
    "AWS::S3::Bucket": ("BucketName", "arn:aws:s3:::{name}"),
}


class UnknownReferenceError(Exception):
    """A reference to something that has no value before deployment."""


class Resolver:
    """Gives references their values. `names` holds `X` and `X.Arn` for what is known."""

    def __init__(self, names: dict[str, str], conditions: JsonObject) -> None:
        self.names = names
        self._conditions = conditions
        self._functions: Mapping[str, Callable[[JsonValue], JsonValue]] = {
            "Ref": self._value,
            "Fn::GetAtt": lambda at: self._value(at if isinstance(at, str) else ".".join(at)),
            "Fn::Sub": self._substitute,
            "Fn::Join": lambda it: str(it[0]).join(str(part) for part in self.resolve(it[1])),
            "Fn::If": lambda it: self.resolve(it[1] if self._holds(it[0]) else it[2]),
            "Fn::Equals": lambda it: self.resolve(it[0]) == self.resolve(it[1]),
            "Fn::Not": lambda it: not self.resolve(it[0]),
            "Condition": self._holds,
        }

    def resolve(self, value: JsonValue) -> JsonValue:
        """Return `value` with every intrinsic function replaced by its result.

        Raises:
            UnknownReferenceError: It depends on what only a deployment decides.

        """
        if isinstance(value, list):
            resolved = [self.resolve(item) for item in cast("list[JsonValue]", value)]
            return [item for item in resolved if item is not _NO_VALUE]
        if not isinstance(value, Mapping):
            return value
        items = cast("JsonObject", value)
        if len(items) == 1:
            name, argument = next(iter(items.items()))
            if name in self._functions:
                return self._functions[name](argument)
            if name.startswith("Fn::"):
                raise UnknownReferenceError(name)
        pairs = ((key, self.resolve(item)) for key, item in items.items())
        return {key: item for key, item in pairs if item is not _NO_VALUE}

    def _holds(self, condition: str) -> bool:
        return bool(self.resolve(self._conditions[condition]))

    def _value(self, name: str) -> JsonValue:
        if name == "AWS::NoValue":
            return _NO_VALUE
        if name not in self.names:
            raise UnknownReferenceError(name)
        return self.names[name]

    def _substitute(self, text: JsonValue) -> str:
        if not isinstance(text, str):
            raise UnknownReferenceError("Fn::Sub with a map")
        return _PLACEHOLDER.sub(lambda match: str(self._value(match.group(1))), text)


def resolver_for(template: Template, parameters: Mapping[str, str], stack: str) -> Resolver:
    """Return a resolver that knows parameters, pseudo parameters and every named resource."""
    declared: JsonObject = template.document.get("Parameters", {})
    names = {name: str(parameter.get("Default", "")) for name, parameter in declared.items()}
    names |= parameters
    names |= {
        "AWS::AccountId": ACCOUNT,
        "AWS::Partition": "aws",
        "AWS::Region": REGION,
        "AWS::StackName": stack,
        "AWS::URLSuffix": "amazonaws.com",
    }
    resolver = Resolver(names, template.document.get("Conditions", {}))
    for kind, (property_name, arn) in _NAMED.items():
        for logical_id, properties in template.of_type(kind):
            name = str(resolver.resolve(properties[property_name]))
            names[logical_id] = name
            names[f"{logical_id}.Arn"] = arn.format(region=REGION, account=ACCOUNT, name=name)
    return resolver
