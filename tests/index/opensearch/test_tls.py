"""The client and a node with TLS: both sides show a certificate, and a wrong one is refused."""

from __future__ import annotations

import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from index.model import SearchError
from index.opensearch.client import ClusterPlace, OpenSearchCluster

from .test_client import FINE, OneNode


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """Return the paths of a new certificate for 127.0.0.1, signed by itself, and of its key."""
    made, key = folder / f"{name}.pem", folder / f"{name}.key"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    more = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*command.split(), *more, "-out", made, "-keyout", key], check=True, capture_output=True
    )
    return str(made), str(key)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_both_sides_are_known_to_each_other(tmp_path: Path) -> None:
    node_own, client_own, other = (certificate(tmp_path, one) for one in ("node", "we", "other"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=client_own[0])
    context.load_cert_chain(*node_own)
    context.verify_mode = ssl.CERT_REQUIRED
    with OneNode() as node:
        node.answers = [FINE]
        node.handle_error = lambda *_: None  # type: ignore[method-assign]
        node.socket = context.wrap_socket(node.socket, server_side=True)
        threading.Thread(target=node.serve_forever, args=(0.01,), daemon=True).start()

        def answer(ca: str, own: tuple[str, str]) -> object:
            more = {"ca": ca, "certificate": own[0], "key": own[1]}
            cluster = OpenSearchCluster(ClusterPlace((f"https://{node.host}",), **more))
            try:
                return cluster.ask("GET", "/x", seconds=20)
            finally:
                cluster.close()

        assert answer(node_own[0], client_own) == {"fine": True}
        with pytest.raises(SearchError, match=r"no node of OpenSearch answers \(SSLCertVerific"):
            answer(other[0], client_own)
        with pytest.raises(SearchError, match="no node of OpenSearch answers"):
            answer(node_own[0], other)
        node.shutdown()
