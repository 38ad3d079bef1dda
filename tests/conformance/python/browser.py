"""A page in headless Chromium, driven over the Chrome DevTools Protocol.

Through a pair of pipes instead of a port: when we end, in whatever way, the browser sees its pipe close and ends, too.
"""

import json
import os
import select
import subprocess
import tempfile
import time

# Without the last six Chromium connects to its maker's hosts.
SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
    "--window-size=1400,900",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
]
PATIENCE_SECONDS = 60


class Page:
    """The only page of a browser of its own; ends the browser when it is left."""

    def __init__(self, program, url):
        self._folder = tempfile.TemporaryDirectory(prefix="foo-page-", ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # Chromium reads file descriptor 3 and writes 4.
        shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        command = ["sh", "-c", shell, "sh", program, *SWITCHES, f"--user-data-dir={self._folder.name}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._session, self._rest = 0, None, b""
        try:
            pages = lambda: [it for it in self._call("Target.getTargets")["targetInfos"] if it["type"] == "page"]
            target = until("there is a page", pages)[0]["targetId"]
            self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            self._call("Page.navigate", url=url)
            until("it is loaded", lambda: self.value("document.readyState === 'complete' && location.href !== 'about:blank'"))
        except BaseException:
            self.close()
            raise

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            response = json.loads(self._message())
            if response.get("id") == self._number:
                assert "error" not in response, response
                return response["result"]

    def _message(self):
        while b"\0" not in self._rest:
            readable, _, _ = select.select([self._in], [], [], PATIENCE_SECONDS)
            assert readable, f"Chromium was silent for {PATIENCE_SECONDS} s"
            more = os.read(self._in, 1 << 16)
            assert more, f"Chromium ended: {self._process.poll()}"
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return message

    def value(self, expression):
        """What a JavaScript expression gives."""
        response = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in response, response["exceptionDetails"]
        return response["result"].get("value")

    def screenshot(self):
        """The page as a PNG, in base64."""
        return self._call("Page.captureScreenshot", format="png")["data"]

    def emulate(self, scheme):
        """Prefers `light` or `dark` colours."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def close(self):
        os.close(self._out)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def until(what, condition):
    """The first true value of a condition."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"not in {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.1)
