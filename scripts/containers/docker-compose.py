#!/usr/bin/python3
# Compose v1 on podman, which knows no links: `run` would link a container to those of its own service.
import sys

from compose.cli.main import main
from compose.service import Service

Service._get_links = lambda self, link_to_self: []
sys.exit(main())
