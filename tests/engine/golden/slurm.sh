#!/bin/sh
#SBATCH --job-name=gpt_175b
#SBATCH --no-kill
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --no-requeue
#SBATCH --nodes=18
#SBATCH --ntasks-per-node=1
#SBATCH --partition=gpu
#SBATCH --account=physics
#SBATCH --qos=high
#SBATCH --time=1-12:00:00
#SBATCH --gres=gpu:8
#SBATCH --constraint=ib&a100
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --reservation="my one"

# gpt: 16 hosts × 8 devices, 2 spares
trap '' USR1
cd '/home/ann/my jobs' || exit 3
exec /opt/muster/bin/muster run gpt.lua lr=0.1 'note=it'\''s' --spares 2 --on slurm
