#!/usr/bin/env bash
# Builds the jar with its sources, Javadoc and POM into dist/java: `make package-java`.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/sdks/version.sh
(cd sdk/java && mvn --quiet --batch-mode --no-transfer-progress package -Dmaven.test.skip)
mkdir -p dist/java
cp sdk/java/target/oasis-monitor-"$VERSION"{,-sources,-javadoc}.jar dist/java/
cp sdk/java/pom.xml "dist/java/oasis-monitor-$VERSION.pom"
ls dist/java/*
