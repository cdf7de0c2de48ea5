"""The keys of a configuration: declaration, description, profiles, validation."""
