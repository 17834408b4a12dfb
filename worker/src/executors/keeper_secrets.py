"""Files of secrets for a program without sandbox: a private folder in memory, which goes with the attempt."""
import base64
import os
import shutil
import uuid

PREFIX = "stoker-secrets-"


class SecretFolder:
    """Named before the attempt is recorded, so that whoever cleans up after a killed keeper knows where it is."""

    def __init__(self, secrets):
        self.files, self.path = (secrets or {}).get("files") or [], None
        if self.files:
            self.path = f"{secrets['memoryFolder']}/{PREFIX}{uuid.uuid4().hex}"

    def fill(self):
        """The variable that tells the program where they are."""
        if self.path is None:
            return {}
        os.mkdir(self.path, 0o700)
        for file in self.files:
            fd = os.open(f"{self.path}/{file['name']}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
            with open(fd, "wb") as target:
                target.write(base64.b64decode(file["value"]))
        return {"STOKER_SECRETS": self.path}

    def remove(self):
        remove_secrets(self.path)


def remove_secrets(path):
    if path is not None and os.path.basename(path).startswith(PREFIX):
        shutil.rmtree(path, ignore_errors=True)
