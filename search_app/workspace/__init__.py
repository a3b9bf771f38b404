"""What a workspace folder holds, which parts are current, and how they change in one step."""
