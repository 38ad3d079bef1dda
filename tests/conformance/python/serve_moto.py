"""moto as a server, until its standard input ends: whoever started it is gone then.

Prints one line of JSON: the endpoint, and what there is to make groups of.
"""

import json
import logging
import sys

import boto3
from moto.server import ThreadedMotoServer


def main():
    logging.disable(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        ec2 = boto3.client(
            "ec2",
            region_name="eu-central-1",
            endpoint_url=endpoint,
            aws_access_key_id="judge",
            aws_secret_access_key="judge",
        )
        images = ec2.describe_images(Filters=[{"Name": "architecture", "Values": ["x86_64"]}])["Images"]
        subnets = ec2.describe_subnets()["Subnets"]
        vpc = subnets[0]["VpcId"]
        groups = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["SecurityGroups"]
        place = {
            "endpoint": endpoint,
            "image": images[0]["ImageId"],
            "subnets": sorted(each["SubnetId"] for each in subnets),
            "security_group": groups[0]["GroupId"],
        }
        print(json.dumps(place), flush=True)
        sys.stdin.read()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
