"""What joins the apps: home, dataset page, search, impact."""
