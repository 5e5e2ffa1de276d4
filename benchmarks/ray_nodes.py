"""A Ray cluster on the loopback interface, as a program: a head node without processors, and a node for each further
folder, which is its disk.

It prints its address and the processes of the nodes as JSON, and ends with its input. The token is in `RAY_AUTH_TOKEN`.
"""

import json
import os
import sys
from typing import Any

from ray.cluster_utils import Cluster

NODE = {"node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20, "include_dashboard": False}


def main() -> None:
    folder, *disks = sys.argv[1:]
    # Ray also writes the address of the cluster there, and does not make the folder itself.
    os.environ["RAY_TMPDIR"] = folder
    cluster: Any = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
    nodes = [cluster.add_node(**NODE, num_cpus=4, env_vars={"TMPDIR": disk}) for disk in disks]
    print(json.dumps({"address": cluster.address, "raylets": [_raylet(node) for node in nodes]}), flush=True)
    sys.stdin.read()
    cluster.shutdown()


def _raylet(node: Any) -> int:
    process: int = node.all_processes["raylet"][0].process.pid
    return process


if __name__ == "__main__":
    main()
