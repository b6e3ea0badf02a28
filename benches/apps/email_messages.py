"""Messages with parts, attachments and headers in several alphabets: made, written, parsed,
answered."""

import datetime
import email
from email import policy
from email.message import EmailMessage

POLICY = policy.SMTP


def made(n):
    message = EmailMessage(policy=POLICY)
    message["Subject"] = f"Größe {n}: a subject that is long enough to be folded into two lines of a header, perhaps three"
    message["From"] = f"Sender {n} <sender{n}@mail.example>"
    message["To"] = ", ".join(f'"Reader, {k}" <reader{k}@mail.example>' for k in range(n % 4 + 1))
    message["Date"] = datetime.datetime(2024, 1, n + 1, 8, 30, tzinfo=datetime.timezone.utc)
    message["Message-ID"] = f"<{n}.abc@mail.example>"
    message.set_content(f"Dear reader,\n\nthis is number {n}: äöü.\n" + "A line of the text, with = signs and more.\n" * 10)
    message.add_alternative(f"<p>Number <b>{n}</b>: äöü</p>" * 5, subtype="html")
    message.add_attachment(bytes(range(256)) * 2, maintype="application", subtype="octet-stream", filename=f"data {n}.bin")
    return message


def work():
    seen = []
    for n in range(4):
        message = made(n)
        message.set_boundary(f"boundary-{n}")
        message.get_payload(0).set_boundary(f"inner-{n}")
        back = email.message_from_bytes(message.as_bytes(), policy=POLICY)
        answer = EmailMessage(policy=POLICY)
        answer["Subject"] = "Re: " + back["Subject"]
        answer["To"] = back["From"].addresses[0].addr_spec
        answer["In-Reply-To"] = back["Message-ID"]
        answer.set_content("> " + back.get_body(("plain",)).get_content().replace("\n", "\n> "))
        seen.append((str(back["Date"].datetime), [a.username for a in back["To"].addresses], [p.get_content_type() for p in back.walk()],
                     [p.get_filename() for p in back.iter_attachments()], answer.as_string()))
    return seen
