#!/bin/bash
#: call 2
echo "worker slots=$1" > hosts.txt
cat > note.txt <<EOF
size $1
EOF
ln -sf ../src code
for i in $(seq $1); do
  export RANK_ID=$((i-1)) RANK_SIZE=$1
  python train.py --hosts hosts.txt --index $i &
done
