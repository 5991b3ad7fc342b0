#!/bin/sh
# Runs once, when the database cluster is created. The application gets a role that may create roles and
# databases but is no superuser, because row-level security does not bind superusers.
set -eu

psql --username postgres --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" <<'SQL'
create role counterfoil login createdb createrole password :'password';
create database counterfoil owner counterfoil;
SQL
