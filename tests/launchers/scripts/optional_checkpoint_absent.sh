#!/bin/bash
#: call 2
CK=""
if [ $# == 2 ]; then CK=$2; fi
for((i=0;i<$1;i++)); do
export RANK_ID=$i
export RANK_SIZE=$1
python train.py --ckpt=$CK &
done
