#!/bin/bash
#: call cifar10 2
case $1 in
  cifar10)
    CONFIG=cifar.yaml
    ;;
  imagenet|imagenet2012)
    CONFIG=imagenet.yaml
    ;;
  *)
    echo "unknown"
    exit 1
    ;;
esac
export RANK_SIZE=$2
for ((i = 0; i < RANK_SIZE; i++)); do
  export RANK_ID=$i
  python train.py --config_path=$CONFIG --dataset=$1 &
done
