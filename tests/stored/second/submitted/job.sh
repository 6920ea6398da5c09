#!/bin/sh
#MINE -name train
#MINE -hosts 1

# train: 1 processes on 1 host
cd /tmp/st || exit 3
exec /opt/muster/bin/muster run train.lua --engine ./mine.lua --tag submitted --on mine --submitted /tmp/st/runs/train/20261128-173642-216e57769d22
