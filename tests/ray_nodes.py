"""A Ray cluster of two nodes on the loopback interface, as a program for tests.

It prints its address, then obeys lines of its input: `add` and `remove` change the second node. It ends with its input.
The token is in `RAY_AUTH_TOKEN`.
"""

import os
import sys

from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20, "include_dashboard": False}


def main() -> None:
    # Ray also writes the address of the cluster there, and does not make the folder itself.
    os.environ["RAY_TMPDIR"] = sys.argv[1]
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    second = cluster.add_node(**NODE)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line.strip() == "remove":
            cluster.remove_node(second, allow_graceful=False)
        else:
            second = cluster.add_node(**NODE)
        print(line.strip(), flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
