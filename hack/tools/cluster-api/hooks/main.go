// Command hooks prints what Cluster API's own types say of the Runtime SDK: one line of JSON for each hook of its
// catalogue, with its path, whether it may block, and an empty and a filled sample of its request and its response.
// A test compares the Rust types with it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/cluster-api/api/runtime/catalog"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
)

// deep enough for every field of the hooks' own types; Clusters and Machines inside go on for longer and are raw in Rust.
const depth = 8

type line struct {
	Name          string          `json:"name"`
	Path          string          `json:"path"`
	Blocking      bool            `json:"blocking"`
	EmptyRequest  json.RawMessage `json:"emptyRequest"`
	FullRequest   json.RawMessage `json:"fullRequest"`
	EmptyResponse json.RawMessage `json:"emptyResponse"`
	FullResponse  json.RawMessage `json:"fullResponse"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	all := catalog.New()
	if err := hooksv1.AddToCatalog(all); err != nil {
		return err
	}
	var lines []line
	for gvh := range all.AllKnownHooks() {
		next, err := describe(all, gvh)
		if err != nil {
			return fmt.Errorf("%s: %w", gvh, err)
		}
		lines = append(lines, next)
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i].Name < lines[j].Name })
	encoder := json.NewEncoder(os.Stdout)
	for _, next := range lines {
		if err := encoder.Encode(next); err != nil {
			return err
		}
	}
	return nil
}

func describe(all *catalog.Catalog, gvh catalog.GroupVersionHook) (line, error) {
	handler := "handler"
	if gvh.Hook == "Discovery" {
		handler = ""
	}
	next := line{Name: gvh.Hook, Path: catalog.GVHToPath(gvh, handler)}
	for _, full := range []bool{false, true} {
		request, err := all.NewRequest(gvh)
		if err != nil {
			return next, err
		}
		response, err := all.NewResponse(gvh)
		if err != nil {
			return next, err
		}
		if full {
			fill(reflect.ValueOf(request).Elem(), depth)
			fill(reflect.ValueOf(response).Elem(), depth)
		}
		response.(hooksv1.ResponseObject).SetStatus(hooksv1.ResponseStatusSuccess)
		_, next.Blocking = response.(hooksv1.RetryResponseObject)
		requestKind, err := all.Request(gvh)
		if err != nil {
			return next, err
		}
		responseKind, err := all.Response(gvh)
		if err != nil {
			return next, err
		}
		request.GetObjectKind().SetGroupVersionKind(requestKind)
		response.GetObjectKind().SetGroupVersionKind(responseKind)
		requestJSON, err := json.Marshal(request)
		if err != nil {
			return next, err
		}
		responseJSON, err := json.Marshal(response)
		if err != nil {
			return next, err
		}
		if full {
			next.FullRequest, next.FullResponse = requestJSON, responseJSON
		} else {
			next.EmptyRequest, next.EmptyResponse = requestJSON, responseJSON
		}
	}
	return next, nil
}

// fill sets everything that can be set, with values that are legal where a type says which are.
func fill(value reflect.Value, left int) {
	if left == 0 || !value.CanSet() {
		return
	}
	switch value.Addr().Interface().(type) {
	case *runtime.RawExtension:
		raw := runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.com/v1","kind":"Thing","spec":{"size":3}}`)}
		value.Set(reflect.ValueOf(raw))
		return
	case *apiextensionsv1.JSON:
		value.Set(reflect.ValueOf(apiextensionsv1.JSON{Raw: []byte(`{"zones":["a","b"]}`)}))
		return
	case *metav1.Time:
		value.Set(reflect.ValueOf(metav1.NewTime(time.Unix(1700000000, 0).UTC())))
		return
	case *metav1.FieldsV1:
		value.Set(reflect.ValueOf(metav1.FieldsV1{Raw: []byte(`{}`)}))
		return
	case *hooksv1.PatchType:
		value.SetString(string(hooksv1.JSONPatchType))
		return
	case *hooksv1.FailurePolicy:
		value.SetString(string(hooksv1.FailurePolicyIgnore))
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			fill(value.Field(i), left-1)
		}
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), left-1)
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte(`[{"op":"remove","path":"/spec"}]`))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for i := range value.Len() {
			fill(value.Index(i), left-1)
		}
	case reflect.Map:
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		fill(key, left-1)
		fill(element, left-1)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, element)
	case reflect.String:
		value.SetString(strings.ToLower(value.Type().Name()) + "-text")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		value.SetInt(7)
	case reflect.Float32, reflect.Float64:
		value.SetFloat(1.5)
	}
}
