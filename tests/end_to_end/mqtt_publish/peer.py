#!/usr/bin/env python3
"""A client of a broker, by paho-mqtt: peer.py PORT VERSION CLIENT TOPIC... `make table-readers` installs it.

Prints each message as a line of JSON; payloads of Sparkplug B are decoded by Google's library with the schema of the specification. Publishes
each line of standard input: {"topic", "payload" or "metrics", "response_topic", "correlation"}. Its session stays at the broker.
"""

import json
import sys
import threading

import paho.mqtt.client as mqtt
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

OPTIONAL, REPEATED = 1, 3
DOUBLE, FLOAT, UINT64, BOOL, STRING, MESSAGE, UINT32 = 1, 2, 4, 8, 9, 11, 13


def payload_class():
    """The messages of sparkplug_b.proto (6.4.1) that the tests need."""
    file = descriptor_pb2.FileDescriptorProto(name="sparkplug_b.proto", package="s", syntax="proto2")
    schema = {
        "PropertyValue": [(1, "type", UINT32), (8, "string_value", STRING)],
        "PropertySet": [(1, "keys", STRING, "*"), (2, "values", "PropertyValue", "*")],
        "Metric": [
            (1, "name", STRING), (2, "alias", UINT64), (3, "timestamp", UINT64), (4, "datatype", UINT32),
            (5, "is_historical", BOOL), (7, "is_null", BOOL), (9, "properties", "PropertySet"),
            (10, "int_value", UINT32), (11, "long_value", UINT64), (12, "float_value", FLOAT),
            (13, "double_value", DOUBLE), (14, "boolean_value", BOOL), (15, "string_value", STRING),
        ],
        "Payload": [(1, "timestamp", UINT64), (2, "metrics", "Metric", "*"), (3, "seq", UINT64)],
    }
    for name, fields in schema.items():
        message = file.message_type.add(name=name)
        for number, field, kind, *many in fields:
            added = message.field.add(name=field, number=number, label=REPEATED if many else OPTIONAL)
            if isinstance(kind, str):
                added.type, added.type_name = MESSAGE, f".s.{kind}"
            else:
                added.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("s.Payload"))


PAYLOAD = payload_class()
VALUES = ["int_value", "long_value", "float_value", "double_value", "boolean_value", "string_value"]


def decoded(data: bytes) -> dict:
    payload = PAYLOAD.FromString(data)
    metrics = []
    for metric in payload.metrics:
        present = [value for value in VALUES if metric.HasField(value)]
        assert len(present) == (0 if metric.is_null else 1), metric
        metrics.append({
            "name": metric.name, "alias": metric.alias, "datatype": metric.datatype, "historical": metric.is_historical,
            "value": getattr(metric, present[0]) if present else None,
            "unit": metric.properties.values[0].string_value if metric.properties.keys else None,
        })
    return {"seq": payload.seq if payload.HasField("seq") else None, "metrics": metrics}


def encoded(metrics: list) -> bytes:
    payload = PAYLOAD(timestamp=1)
    for name, value in metrics:
        metric = payload.metrics.add(name=name)
        if isinstance(value, bool):
            metric.datatype, metric.boolean_value = 11, value
        else:
            metric.datatype, metric.double_value = 10, value
    return payload.SerializeToString()


def on_message(_client, _data, message) -> None:
    line = {"topic": message.topic, "retained": message.retain, "qos": message.qos}
    line["correlation"] = getattr(getattr(message, "properties", None), "CorrelationData", b"").hex()
    if message.topic.startswith("spBv1.0/"):
        line["sparkplug"] = decoded(message.payload)
    else:
        line["json"] = json.loads(message.payload)
    print(json.dumps(line), flush=True)


def publish(client: mqtt.Client, line: dict) -> None:
    properties = None
    if "response_topic" in line:
        properties = Properties(PacketTypes.PUBLISH)
        properties.ResponseTopic = line["response_topic"]
        properties.CorrelationData = bytes.fromhex(line["correlation"])
    payload = encoded(line["metrics"]) if "metrics" in line else line["payload"].encode()
    client.publish(line["topic"], payload, qos=1, retain=line.get("retain", False), properties=properties)


def main() -> None:
    port, version, name, *topics = sys.argv[1:]
    is_5 = version == "5"
    api = mqtt.CallbackAPIVersion.VERSION2
    if is_5:
        client = mqtt.Client(api, client_id=name, protocol=mqtt.MQTTv5)
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = 3600
        options = {"clean_start": False, "properties": properties}
    else:
        client = mqtt.Client(api, client_id=name, clean_session=False)
        options = {}
    client.on_message = on_message
    client.reconnect_delay_set(1, 1)
    subscribed = threading.Event()

    def on_connect(client, *_):
        client.subscribe([(topic, 1) for topic in topics])

    def on_subscribe(*_):
        if not subscribed.is_set():
            subscribed.set()
            print(json.dumps({"subscribed": True}), flush=True)

    client.on_connect, client.on_subscribe = on_connect, on_subscribe
    client.connect("127.0.0.1", int(port), **options)
    client.loop_start()
    for line in sys.stdin:
        publish(client, json.loads(line))
    client.loop_stop()


main()
