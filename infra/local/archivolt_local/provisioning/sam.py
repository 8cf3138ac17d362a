"""The SAM transform of AWS (`aws-sam-translator`), behind two typed functions."""

# The library has annotations here and there, and no stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import logging
from collections.abc import Mapping
from typing import Any

import boto3
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

from archivolt_local.emulator import REGION
from archivolt_local.problems import StartError

logging.getLogger("samtranslator").setLevel(logging.CRITICAL)


def parse_template(text: str) -> dict[str, Any]:
    """Return a template as data, CloudFormation's short forms (`!Ref`) spelled out."""
    return yaml_parse(text)


def transform(source: dict[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return plain CloudFormation.

    Raises:
        StartError: The template is not valid.

    """
    session = boto3.Session(region_name=REGION)
    translator = Translator({}, Parser(), boto_session=session)
    try:
        return translator.translate(source, parameter_values=dict(parameters))
    except InvalidDocumentException as error:
        raise StartError(f"template.yaml is not valid: {error.message}") from error
