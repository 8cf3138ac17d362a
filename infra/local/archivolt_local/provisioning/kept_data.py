"""What outlives a deployment: created when absent, its settings brought to what the template says.

The bucket, the tables and the groups of timers are never deleted here; the emulator's
CloudFormation does not know them.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_s3 import S3Client

_TABLE_SHAPE = (
    "TableName",
    "AttributeDefinitions",
    "KeySchema",
    "GlobalSecondaryIndexes",
    "BillingMode",
)


def ensure_bucket(s3: "S3Client", properties: Mapping[str, Any]) -> None:
    """Create the bucket if need be, and apply versioning, events, access, origins and lifecycle."""
    name: str = properties["BucketName"]
    with suppress(s3.exceptions.BucketAlreadyOwnedByYou, s3.exceptions.BucketAlreadyExists):
        s3.create_bucket(Bucket=name)
    s3.put_bucket_versioning(
        Bucket=name, VersioningConfiguration=properties["VersioningConfiguration"]
    )
    s3.put_public_access_block(
        Bucket=name,
        PublicAccessBlockConfiguration=properties["PublicAccessBlockConfiguration"],
    )
    s3.put_bucket_notification_configuration(
        Bucket=name, NotificationConfiguration={"EventBridgeConfiguration": {}}
    )
    if "CorsConfiguration" in properties:
        origins: Any = [cors_rule(rule) for rule in properties["CorsConfiguration"]["CorsRules"]]
        s3.put_bucket_cors(Bucket=name, CORSConfiguration={"CORSRules": origins})
    rules: Any = [lifecycle_rule(rule) for rule in properties["LifecycleConfiguration"]["Rules"]]
    s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": rules})


def ensure_timer_groups(timers: Any, names: Iterable[str]) -> None:  # noqa: ANN401  no stubs
    """Create the groups of EventBridge Scheduler if need be."""
    for name in names:
        with suppress(timers.exceptions.ConflictException):
            timers.create_schedule_group(Name=name)


def cors_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template's rule on origins in the form of the S3 API."""
    spelled = {"ExposedHeaders": "ExposeHeaders", "MaxAge": "MaxAgeSeconds"}
    return {spelled.get(name, name): value for name, value in rule.items()}


def lifecycle_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template's lifecycle rule in the form of the S3 API."""
    tags = rule.get("TagFilters", [])
    chosen = {"Tag": tags[0]} if tags else {"Prefix": rule.get("Prefix", "")}
    api: dict[str, Any] = {"ID": rule["Id"], "Status": rule["Status"], "Filter": chosen}
    for name in ("AbortIncompleteMultipartUpload", "NoncurrentVersionExpiration"):
        if name in rule:
            api[name] = rule[name]
    expiration: dict[str, Any] = {}
    if "ExpirationInDays" in rule:
        expiration["Days"] = rule["ExpirationInDays"]
    if "ExpiredObjectDeleteMarker" in rule:
        expiration["ExpiredObjectDeleteMarker"] = rule["ExpiredObjectDeleteMarker"]
    return api | ({"Expiration": expiration} if expiration else {})


def ensure_tables(dynamodb: "DynamoDBClient", tables: Iterable[Mapping[str, Any]]) -> None:
    """Create the tables that are absent, add the indexes that are, and switch expiry on."""
    for properties in tables:
        shape: Any = {name: properties[name] for name in _TABLE_SHAPE if name in properties}
        try:
            dynamodb.create_table(**shape)
        except dynamodb.exceptions.ResourceInUseException:
            _add_missing_indexes(dynamodb, properties)
        _ensure_expiry(dynamodb, properties)


def _add_missing_indexes(dynamodb: "DynamoDBClient", properties: Mapping[str, Any]) -> None:
    name: str = properties["TableName"]
    table = dynamodb.describe_table(TableName=name)["Table"]
    present = {index.get("IndexName") for index in table.get("GlobalSecondaryIndexes", [])}
    for index in properties.get("GlobalSecondaryIndexes", []):
        if index["IndexName"] not in present:
            dynamodb.update_table(
                TableName=name,
                AttributeDefinitions=properties["AttributeDefinitions"],
                GlobalSecondaryIndexUpdates=[{"Create": index}],
            )


def _ensure_expiry(dynamodb: "DynamoDBClient", properties: Mapping[str, Any]) -> None:
    wanted = properties.get("TimeToLiveSpecification")
    if not wanted:
        return
    name: str = properties["TableName"]
    current = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if current.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}:
        return
    try:
        dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=wanted)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") != "ValidationException":
            raise
