"""moto as a server, until its standard input ends: whoever started it is gone then.

Prints one line of JSON: the endpoint, and what there is to make groups of.
"""

import json
import logging
import sys

import boto3
from moto.server import ThreadedMotoServer


def nodes(endpoint):
    """A role that instances and EKS may assume, and an instance profile with it."""
    iam = boto3.client(
        "iam",
        region_name="eu-central-1",
        endpoint_url=endpoint,
        aws_access_key_id="judge",
        aws_secret_access_key="judge",
    )
    services = [
        {"Effect": "Allow", "Principal": {"Service": service}, "Action": ["sts:AssumeRole", "sts:TagSession"]}
        for service in ("ec2.amazonaws.com", "eks.amazonaws.com")
    ]
    trust = json.dumps({"Version": "2012-10-17", "Statement": services})
    iam.create_role(RoleName="nodes", AssumeRolePolicyDocument=trust)
    iam.create_instance_profile(InstanceProfileName="nodes")
    iam.add_role_to_instance_profile(InstanceProfileName="nodes", RoleName="nodes")


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
        nodes(endpoint)
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
