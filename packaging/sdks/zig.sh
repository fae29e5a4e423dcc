# Sourced by the scripts beside it: builds that run on old systems. Zig links against any glibc, and needs no container.
ARCH=${PACKAGE_ARCH:-$(uname -m)}
case $ARCH in
  armv5te) ABI=gnueabi TOOLS=arm-linux-gnueabi ;;
  armv7) ABI=gnueabihf TOOLS=arm-linux-gnueabihf ;;
  *) ABI=gnu TOOLS=$ARCH-linux-gnu ;;
esac
# PACKAGE_LIBC=musl: for Alpine.
if [[ ${PACKAGE_LIBC:-gnu} == musl ]]; then ABI=${ABI/gnu/musl}; fi
TARGET=$ARCH-unknown-linux-$ABI
# The oldest glibc that Rust supports: Debian 8, Ubuntu 14.04, RHEL 7.
GLIBC=2.17
export PATH=$PWD/target/venv-package/bin:$PATH
