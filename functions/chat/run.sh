#!/bin/sh
# What the Lambda Web Adapter starts instead of a handler; it forwards requests to the port.
PATH="$PATH:$LAMBDA_TASK_ROOT/bin" \
PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}/opt/python:${LAMBDA_RUNTIME_DIR:-}" \
exec python3 -m uvicorn app:app --host 127.0.0.1 --port "${AWS_LWA_PORT:-8080}" --no-access-log \
  --timeout-graceful-shutdown 1
