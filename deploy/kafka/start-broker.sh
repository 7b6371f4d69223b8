#!/usr/bin/env bash
# One broker of the production profile: KRaft, SCRAM for clients, rights by ACL. NODE_ID, CLUSTER_ID and PASSWORD come
# from docker-compose.yml. Every user begins with the same password: docs/guides/kafka.md says whose to change, and how.
set -euo pipefail
: "${PASSWORD:?set FLIPSTREAM_KAFKA_PASSWORD}"
LC_ALL=C
# Kafka cuts quotes and blanks off without a word and fails at a comma; the registry's login reads a backslash as an escape.
if [[ $PASSWORD == *[^!-~]* || $PASSWORD == *[\'\"\\,]* ]]; then
  echo "FLIPSTREAM_KAFKA_PASSWORD takes the signs of ASCII, but no blank, comma, quote or backslash" >&2
  exit 1
fi

cat > /tmp/server.properties <<PROPERTIES
process.roles=broker,controller
node.id=${NODE_ID}
controller.quorum.voters=1@kafka-1.brokers:9095,2@kafka-2.brokers:9095,3@kafka-3.brokers:9095
controller.listener.names=CONTROLLER
inter.broker.listener.name=INTERNAL
listeners=CLIENT://:9092,OUTSIDE://:919${NODE_ID},INTERNAL://kafka-${NODE_ID}.brokers:9093,CONTROLLER://kafka-${NODE_ID}.brokers:9095
advertised.listeners=CLIENT://kafka-${NODE_ID}:9092,OUTSIDE://${ADVERTISED_HOST:-127.0.0.1}:919${NODE_ID},INTERNAL://kafka-${NODE_ID}.brokers:9093
listener.security.protocol.map=CLIENT:SASL_PLAINTEXT,OUTSIDE:SASL_PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.client.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.outside.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:flipstream-admin
log.dirs=/var/lib/kafka/data
auto.create.topics.enable=false
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
message.max.bytes=16777216
replica.fetch.max.bytes=16777216
PROPERTIES

users=()
for name in admin agent oracle streams sink reviewer; do
  users+=(--add-scram "SCRAM-SHA-512=[name=flipstream-${name},password=${PASSWORD}]")
done
# What it prints has the keys that the passwords can be guessed from.
/opt/kafka/bin/kafka-storage.sh format --ignore-formatted --cluster-id "$CLUSTER_ID" --config /tmp/server.properties "${users[@]}" > /dev/null
exec /opt/kafka/bin/kafka-server-start.sh /tmp/server.properties
