package client

import (
	"context"
	"errors"
	"log/slog"
)

// WithLogger makes the client log: each attempt at level Debug, an attempt that is
// made again and a warning of the server at level Warn. Without it nothing is
// logged. Names of machines are logged, queries, headers and bodies never.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if logger == nil {
			return errors.New("the logger is nil")
		}
		c.logger = logger
		c.hooks = append(c.hooks, logged(logger))
		return nil
	}
}

func logged(logger *slog.Logger) Hook {
	return func(ctx context.Context, req *Request) (context.Context, func(Result)) {
		return ctx, func(res Result) {
			attrs := []slog.Attr{
				slog.String("verb", req.Verb), slog.String("route", req.Route),
				slog.String("namespace", req.Namespace), slog.String("name", req.Name),
				slog.Int("attempt", req.Attempt), slog.Int("status", res.Status),
				slog.Int64("bytes", res.Bytes), slog.Duration("duration", res.Duration),
			}
			if res.Err != nil {
				attrs = append(attrs, slog.String("error", oneLine(res.Err.Error(), 300)))
			}
			logger.LogAttrs(ctx, slog.LevelDebug, "request", attrs...)
			for _, warning := range res.Warnings {
				logger.LogAttrs(ctx, slog.LevelWarn, "warning of the server", append(attrs[:4:4], slog.String("warning", warning))...)
			}
		}
	}
}
