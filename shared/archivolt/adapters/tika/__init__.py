"""An Apache Tika server: a reader of a thousand formats that a deployment may run beside ours."""
