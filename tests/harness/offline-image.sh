#!/bin/sh
# Writes an image's files as a tar: busybox and the machine's own Python, so that no registry is needed. Usage: offline-image.sh TAR
set -eu
tar_file=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
for folder in bin etc tmp root app models usr/bin lib64 proc sys dev; do mkdir -p "$root/$folder"; done
chmod 755 "$root" && chmod 1777 "$root/tmp"
cp "$(command -v busybox)" "$root/bin/busybox"
for name in $("$root/bin/busybox" --list); do
  [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"
done
printf 'root:x:0:0:root:/root:/bin/sh\nworker:x:1234:1235:worker:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nworkers:x:1235:\nnogroup:x:65534:\n' >"$root/etc/group"
python=$(readlink -f /usr/bin/python3)
version=$(basename "$python")
cp "$python" "$root/usr/bin/"
ln -s "$version" "$root/usr/bin/python3"
ln -s "$version" "$root/usr/bin/python"
(cd / && find "usr/lib/$version" -name __pycache__ -prune -o -type f -print |
  grep -v -e /test/ -e /ensurepip/ -e /idlelib/ -e /config- | tar -c -h -T -) | tar -C "$root" -x
# Packages with compiled parts expect these of every image, beside what Python itself needs.
usual='libstdc++.so.6 libgcc_s.so.1 libdl.so.2 librt.so.1 libpthread.so.0 libutil.so.1'
usual=$(for name in $usual; do ldconfig -p | awk -v name="$name" '$1 == name {print $NF; exit}'; done)
{
  for file in "$python" "$root/usr/lib/$version"/lib-dynload/*.so; do ldd "$file"; done 2>/dev/null |
    awk '/=> \//{print $3} /^\t\/lib64/{print $1}'
  printf '%s\n' $usual
} | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
tar -C "$root" -c -f "$tar_file" .
