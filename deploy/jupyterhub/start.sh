#!/bin/sh
# The container's command: accounts, the exchange, the first instructor's course folder, then the hub.
set -eu
: "${INSTRUCTORS:=teacher}" "${CLASS_FILE:=/srv/hub/private/class.csv}"
export INSTRUCTORS CLASS_FILE

chmod 700 /srv/hub/private # the hub's database and class.csv too; not by the hub's umask, which students' servers inherit
(umask 077 && python /srv/hub/accounts.py "$CLASS_FILE" /srv/hub/private/passwords.csv $INSTRUCTORS)

# The course's folders as nbgrader makes them (exchange/default/release_*.py), before a student can make and own them.
mkdir -p /srv/nbgrader/exchange
chmod 1777 /srv/nbgrader/exchange
owner=${INSTRUCTORS%% *}
install -d -o "$owner" -g "$owner" -m 755 /srv/nbgrader/exchange/bert /srv/nbgrader/exchange/bert/outbound
install -d -o "$owner" -g "$owner" -m 2733 /srv/nbgrader/exchange/bert/inbound
install -d -o "$owner" -g "$owner" -m 711 /srv/nbgrader/exchange/bert/feedback

# Terminals of JupyterLab are login shells, which set PATH anew.
for name in $INSTRUCTORS; do
    su "$name" -c "cd && { grep -qs '^PATH=/opt/instructor/bin' .profile || echo 'PATH=/opt/instructor/bin:\$PATH' >> .profile; }"
done

# One course, of the first instructor, who owns the exchange; the others grade in it, on the first one's server.
if [ ! -e "/home/$owner/bert" ]; then
    su "$owner" -c "cd && /opt/instructor/bin/autograde init bert --id bert && mkdir -p .jupyter"
    su "$owner" -c "printf 'c = get_config()\nc.CourseDirectory.root = \"/home/%s/bert\"\n' $owner > /home/$owner/.jupyter/nbgrader_config.py"
fi

exec jupyterhub --config /srv/hub/jupyterhub_config.py
