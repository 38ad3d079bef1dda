#part-handler
# Fetches this instance's user data from S3 with the role of its instance profile, and hands it to cloud-init as vendor data, which
# cloud-init reads after the user data, in the same boot.
import datetime, hashlib, hmac, json, time
from http import client
from urllib import parse, request

TYPE = "text/x-foo-user-data"
METADATA = ["http://169.254.169.254/latest/", "http://[fd00:ec2::254]/latest/"]
ATTEMPTS = 60
PAUSE = 5


def list_types():
    return [TYPE]


def fetch(url, headers, method="GET", handlers=()):
    asked = request.Request(url, headers=headers, method=method)
    with request.build_opener(*handlers).open(asked, timeout=10) as answer:
        return answer.read()


def metadata(base, path, headers, method="GET"):
    return fetch(base + path, headers, method, [request.ProxyHandler({})]).decode()


def credentials_of(base):
    lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": "300"}
    headers = {"X-aws-ec2-metadata-token": metadata(base, "api/token", lifetime, "PUT")}
    roles = "meta-data/iam/security-credentials/"
    role = metadata(base, roles, headers).split()[0]
    return json.loads(metadata(base, roles + role, headers))


def credentials():
    for base in METADATA[:-1]:
        try:
            return credentials_of(base)
        except (OSError, client.HTTPException):
            pass
    return credentials_of(METADATA[-1])


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def signed(url, region, keys):
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    parts = parse.urlsplit(url)
    headers = {
        "host": parts.netloc,
        "x-amz-content-sha256": sha256(b""),
        "x-amz-date": stamp,
        "x-amz-security-token": keys["Token"],
    }
    names = sorted(headers)
    lines = "".join("%s:%s\n" % (name, headers[name]) for name in names)
    canonical = "\n".join(["GET", parts.path, "", lines, ";".join(names), sha256(b"")])
    scope = [stamp[:8], region, "s3", "aws4_request"]
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, "/".join(scope), sha256(canonical.encode())])
    key = ("AWS4" + keys["SecretAccessKey"]).encode()
    for part in scope + [text]:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    headers["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
        keys["AccessKeyId"], "/".join(scope), ";".join(names), key.hex())
    return headers


def content(place):
    data = fetch(place["url"], signed(place["url"], place["region"], credentials()))
    if sha256(data) != place["sha256"]:
        raise OSError("the object has another SHA-256")
    return data


def handle_part(data, ctype, filename, payload):
    if ctype != TYPE:
        return
    place = json.loads(payload)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            data.datasource.vendordata_raw = content(place)
            data.datasource.vendordata = None
            return
        except (OSError, client.HTTPException, ValueError, KeyError, IndexError) as error:
            print("user data %s: attempt %d: %s" % (place["url"], attempt, error), flush=True)
            if attempt == ATTEMPTS:
                raise
        time.sleep(PAUSE)
