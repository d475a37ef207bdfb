package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
)

// GetOpenAPIV3 answers where the documents of the groups are.
func (s *server) GetOpenAPIV3(c echo.Context) error {
	x := exchangeOf(c)
	if err := acceptsOnlyJSON(x.r.Header.Get("Accept")); err != nil {
		return err
	}
	published, err := s.doc.Published()
	if err != nil {
		return err
	}
	x.answer = okJSON(openapi.FormDeclared, published.Index(s.prefix))
	x.answer.fixed, x.answer.etag = true, entityTag(x.answer.head)
	return nil
}

// GetCoreV1OpenAPI answers the document of the core group.
func (s *server) GetCoreV1OpenAPI(c echo.Context, p vmi.GetCoreV1OpenAPIParams) error {
	return s.groupDocument(exchangeOf(c), "api/v1", p.Hash)
}

// GetKubeVirtV1OpenAPI answers the document of KubeVirt's group.
func (s *server) GetKubeVirtV1OpenAPI(c echo.Context, p vmi.GetKubeVirtV1OpenAPIParams) error {
	return s.groupDocument(exchangeOf(c), "apis/"+group+"/"+version, p.Hash)
}

// GetGroupOpenAPI answers the document of another group.
func (s *server) GetGroupOpenAPI(c echo.Context, group, version string, p clusterserver.GetGroupOpenAPIParams) error {
	return s.groupDocument(exchangeOf(c), "apis/"+group+"/"+version, p.Hash)
}

// groupDocument answers a document. Under its hash it may be kept for ever; who asks
// for another one is led to it.
func (s *server) groupDocument(x *exchange, path string, hash *string) error {
	if err := acceptsOnlyJSON(x.r.Header.Get("Accept")); err != nil {
		return err
	}
	published, err := s.doc.Published()
	if err != nil {
		return err
	}
	doc, ok := published.Group(path)
	if !ok {
		return errNoSuchPath
	}
	switch {
	case hash != nil && *hash != doc.Hash:
		x.w.Header().Set("Location", s.prefix+"/openapi/v3/"+path+"?hash="+doc.Hash)
		x.answer = answer{status: http.StatusMovedPermanently, form: openapi.FormDeclared, contentType: mediaJSON}
	case hash != nil:
		x.answer = okJSON(openapi.FormDeclared, doc.JSON)
		x.answer.cache = "public, immutable"
		x.w.Header().Set("Expires", s.now().UTC().AddDate(1, 0, 0).Format(http.TimeFormat))
	default:
		x.answer = okJSON(openapi.FormDeclared, doc.JSON)
	}
	x.w.Header().Add("Vary", "Accept")
	x.answer.etag, x.answer.fixed = `"`+doc.Hash+`"`, true
	return nil
}
