#!/bin/sh
# The container's command: accounts, the exchange, each instructor's course folder, then the hub.
set -eu
: "${INSTRUCTORS:=teacher}" "${CLASS_FILE:=/srv/hub/private/class.csv}"
export INSTRUCTORS CLASS_FILE

python /srv/hub/accounts.py "$CLASS_FILE" /srv/hub/private/passwords.csv $INSTRUCTORS
mkdir -p /srv/nbgrader/exchange
chmod 1777 /srv/nbgrader/exchange

for name in $INSTRUCTORS; do
    [ -e "/home/$name/bert" ] && continue
    su "$name" -c "cd && /opt/instructor/bin/autograde init bert --id bert && mkdir -p .jupyter"
    su "$name" -c "printf 'c = get_config()\nc.CourseDirectory.root = \"/home/%s/bert\"\n' $name > /home/$name/.jupyter/nbgrader_config.py"
done

exec jupyterhub --config /srv/hub/jupyterhub_config.py
