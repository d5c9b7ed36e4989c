"""The project: settings, routes, servers' entry points and the apps that every other app stands on."""
