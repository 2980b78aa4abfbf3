"""``surefoot serve``."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli.errors import Failed, clear_errors, print_error, say

#: The store, if none is named.
STORE = "surefoot.db"
#: The environment variable that holds the secret of the webhook.
_SECRET = "SUREFOOT_WEBHOOK_SECRET"

#: Options of every command that keeps what a store holds; of one store, all should have the same.
LabelWindow = Annotated[
    int,
    typer.Option(
        "--label-window",
        metavar="ROWS",
        help="Wait for a label during this many later predictions of its model; a model keeps the number that it "
        "began with.",
        min=1,
    ),
]
KeepIds = Annotated[
    int,
    typer.Option(
        "--keep-ids",
        metavar="HOURS",
        help="Keep ids for at least this many hours, and for --label-window predictions. After that, a label no longer "
        "finds its prediction, and a row that is sent again is counted again.",
        min=1,
    ),
]
KeepHours = Annotated[
    int, typer.Option("--keep-hours", metavar="HOURS", help="Keep totals by hour so long; older ones by day.", min=1)
]
MeanTime = Annotated[
    float,
    typer.Option(
        "--mean-time-between-false-alarms",
        metavar="ROWS",
        help="On a calibrated model, drift is detected at most once in this many rows on average; a model keeps "
        "the number that it began with.",
        min=1,
    ),
]


def command(
    store: Annotated[
        str,
        typer.Option("--store", metavar="FILE|URL", help="SQLite file, made if it is missing, or postgresql://..."),
    ] = STORE,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="NUMBER", help="Port to listen at.", min=0, max=65535)] = 8787,
    label_window: LabelWindow = 100_000,
    keep_ids: KeepIds = 24,
    keep_hours: KeepHours = 168,
    mean_time: MeanTime = 10_000,
    webhook: Annotated[
        str | None,
        typer.Option(
            "--webhook",
            metavar="URL",
            help="Post alarms, drift and flagged slices to this address, signed with the secret in the environment "
            "variable SUREFOOT_WEBHOOK_SECRET or in --webhook-secret-file.",
        ),
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option("--webhook-secret-file", metavar="FILE", help="The file that holds the secret of the webhook."),
    ] = None,
    new_token: Annotated[
        str | None,
        typer.Option(
            "--new-token",
            metavar="MODEL[:SCOPES]",
            help="Print a token for a model, or for all ('*'), and exit; scopes are predictions, labels, read and "
            "reference.",
        ),
    ] = None,
    revoke_token: Annotated[
        str | None,
        typer.Option(
            "--revoke-token",
            metavar="TOKEN",
            help="Take a token back, and exit; servers refuse it after 10 seconds. '-' reads it from the input.",
        ),
    ] = None,
    is_open: Annotated[
        bool, typer.Option("--no-token", help="Answer without tokens; on this machine's own address only.")
    ] = False,
    rate: Annotated[
        float, typer.Option("--rate", metavar="NUMBER", help="Requests a second that a client may make.", min=1)
    ] = 1_000,
) -> None:
    """Watch models over the network: predictions when they are made, labels when they come.

    Needs no set-up: rows are kept in one file. The first start prints a token, and a curl line to try.

    \b
      surefoot serve
      surefoot serve --store postgresql://host/db
      surefoot serve --new-token fraud:labels,read
    """
    with clear_errors():
        _check_packages()
        from surefoot.service.app import App
        from surefoot.service.database import connect
        from surefoot.service.origin import is_loopback
        from surefoot.service.service import Service
        from surefoot.service.tokens import EVERY, Grant

        if is_open and not is_loopback(host):
            raise typer.BadParameter(
                f"--no-token is for this machine's own address, and --host is {host}; leave one of them out"
            )
        try:
            grant = None if new_token is None else Grant.parse(new_token)
        except ValueError as error:
            raise typer.BadParameter(f"--new-token: {error}") from error
        service = Service(
            _open(connect, store),
            label_window=label_window,
            keep_ids=keep_ids,
            keep_hours=keep_hours,
            mean_time=mean_time,
            webhook=_webhook(webhook, secret_file),
        )
        if grant is not None:
            say(service.tokens.create(grant))
            service.stop()
            return
        if revoke_token is not None:
            is_known = service.tokens.revoke(sys.stdin.readline().strip() if revoke_token == "-" else revoke_token)
            service.stop()
            if not is_known:
                raise Failed(print_error("this store has no such token", 2))
            say("The token is revoked.")
            return
        token = None
        if not is_open and not service.tokens.exist():
            token = service.tokens.create(Grant.parse(EVERY))
        _run(App(service, is_open=is_open, rate=rate), host, port, store, token, is_open=is_open)


def _check_packages() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise Failed(print_error(f"serve needs {' and '.join(missing)}: pip install 'surefoot[serve]'", 2))


def _webhook(url: str | None, secret_file: Path | None) -> Any:
    from surefoot.service.webhook import Webhook

    if url is None:
        if secret_file is not None:
            raise typer.BadParameter("--webhook-secret-file is of a webhook; give --webhook URL, too")
        return None
    if secret_file is not None:
        try:
            secret = secret_file.read_bytes().strip()
        except OSError as error:
            raise Failed(print_error(f"{secret_file}: cannot be read: {error.strerror}", 3)) from error
    else:
        secret = os.environ.get(_SECRET, "").strip().encode("utf-8", "surrogateescape")
    if not secret:
        raise typer.BadParameter(f"--webhook is signed: put a secret into {_SECRET}, or give --webhook-secret-file")
    try:
        return Webhook(url, secret)
    except ValueError as error:
        raise typer.BadParameter(f"--webhook: {error}") from error


def _open(connect: Any, store: str) -> Any:
    from surefoot._io.masking import masked

    try:
        return connect(store)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise Failed(print_error(f"{masked(store)}: cannot be opened: {reason}", 3)) from error


def _run(app: Any, host: str, port: int, store: str, token: str | None, *, is_open: bool) -> None:
    import logging

    import uvicorn

    from surefoot.service.connections import Connection

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    # requests wait for a thread that computes 1 ms at most, and not 5
    sys.setswitchinterval(0.001)
    listener = _listen(host, port)
    _greet(f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}", store, token, is_open=is_open)
    config = uvicorn.Config(
        app.asgi,
        http=Connection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
        limit_concurrency=1_000,
        h11_max_incomplete_event_size=64 << 10,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> Any:
    """A socket that is bound to the address."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends answers at once only from sockets that say that they speak TCP; from others each waits for 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # from here on requests wait, also those of who is quicker than we are
        listener.listen(1_000)
    except OSError as error:
        listener.close()
        raise Failed(print_error(f"cannot listen at {host}:{port}: {error.strerror}; choose a --port", 3)) from error
    return listener


def _greet(url: str, store: str, token: str | None, *, is_open: bool) -> None:
    from surefoot._io.masking import masked

    again = "surefoot serve" if store == STORE else f"surefoot serve --store {shlex.quote(masked(store))}"
    again += " --new-token '*' makes another"
    say(f"\n  Serving at {url}")
    say(f"  Store      {masked(store)}{'' if '://' in store else f' ({os.path.abspath(store)})'}")
    if is_open:
        say("  Token      none: whoever can reach this address may read and write")
    elif token is not None:
        say(f"  Token      {token}")
        say(f"             It is shown only now. {again}.")
        say(f"  Page       {url}/?token={token}")
    else:
        say(f"  Token      as shown at the first start; {again}")
    header = "" if is_open else f"-H 'Authorization: Bearer {token or 'TOKEN'}' "
    say("\n  Try:")
    path = f"{url}/v1/models/my-model/1"
    for what, body in (("predictions", '{"id": "a", "confidence": 0.9}'), ("labels", '{"id": "a", "correct": true}')):
        say(f"    curl {header}{path}/{what} -d '{body}'")
    say(f"    curl {header}{path}/state\n")
