"""A mail server for tests: prints its port, then each mail as a line of JSON. Arguments: starttls|tls|none, certificate, key."""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Printer:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 no such mailbox"
        if address.startswith("busy@"):
            return "450 4.2.1 mailbox busy"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": server.transport.get_extra_info("ssl_object") is not None,
            "user": session.auth_data.login.decode() if session.auth_data else None,
            "text": envelope.original_content.decode("utf-8", "surrogateescape"),
        }
        print(json.dumps(mail), flush=True)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=data.password == b"hush", handled=False, auth_data=data)


async def main(mode, certificate, key):
    context = None
    if mode != "none":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)

    def protocol():
        return SMTP(
            Printer(),
            hostname="localhost",
            authenticator=authenticate,
            auth_require_tls=False,
            tls_context=context if mode == "starttls" else None,
            require_starttls=mode == "starttls",
        )

    outer = context if mode == "tls" else None
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=outer)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:4]))
